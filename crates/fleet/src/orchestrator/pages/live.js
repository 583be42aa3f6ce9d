"use strict";
// Puts what the server sends in the place of what it sent before. Without this the page is the same,
// and stands still.
const live = document.getElementById("live");
const mark = document.getElementById("mark");
if (live && live.dataset.events && window.EventSource) {
  const source = new EventSource(live.dataset.events);
  const show = (html) => {
    const before = live.querySelector("pre.log");
    const atEnd = !before || before.scrollTop + before.clientHeight >= before.scrollHeight - 4;
    const top = before ? before.scrollTop : 0;
    live.innerHTML = html;
    const after = live.querySelector("pre.log");
    if (after) after.scrollTop = atEnd ? after.scrollHeight : top;
  };
  source.addEventListener("page", (event) => {
    show(event.data);
    mark.textContent = "live";
  });
  source.addEventListener("end", (event) => {
    show(event.data);
    mark.textContent = "ended";
    source.close();
  });
  source.onerror = () => {
    mark.textContent = source.readyState === EventSource.CLOSED ? "not live: reload" : "connecting again";
  };
}
