// Looks at the pages of an orchestrator as a person does: in a browser, with its script running. Every
// check throws; whatever the browser itself complains about is a failure too.
//
//   node browser.mjs PART URL PICTURES
//
// PART is the folder of the part; pictures of pages go to the folder PICTURES, if it is named.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';

const [part, url, pictures] = process.argv.slice(2);
const { chromium } = createRequire(`${part}/node_modules/`)('playwright-core');
const TOKEN = 'secret-submitter';
const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&\u202eevil';
const PATIENCE = 60_000;

const browser = await chromium.launch({
    executablePath: `${part}/bin/chromium`,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
        '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
const page = await context.newPage();
const complaints = [];
page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
});
page.on('pageerror', (error) => complaints.push(`uncaught: ${error}`));
page.on('requestfailed', (request) => {
    // A stream that is left with its page is no failure.
    if (!request.url().includes('/live/')) complaints.push(`failed: ${request.url()}`);
});
page.on('dialog', (dialog) => { complaints.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });

async function api(method, path, body) {
    const answer = await fetch(`${url}/api/v1${path}`, {
        method, headers: { authorization: `Bearer ${TOKEN}` }, body: body && JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer.json();
}

const job = (name, step, more = {}) => ({ name, job_spec: { name, steps: [step] }, ...more });
const submit = async (name, jobs) => (await api('POST', '/runs', { name, jobs })).run_id;

/** Waits until the page's inside says something, without anybody reloading it. */
async function says(text) {
    await page.waitForFunction((text) => document.getElementById('live').innerText.includes(text), text,
        { timeout: PATIENCE, polling: 50 });
}

async function mark(text) {
    await page.waitForFunction((text) => document.getElementById('mark').textContent === text, text,
        { timeout: PATIENCE, polling: 50 });
}

async function picture(name, { width = 1100, dark = false } = {}) {
    if (!pictures) return;
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.screenshot({ path: `${pictures}/${name}.png` });
}

/** Nothing is wider than its window: nobody must scroll sideways to read. */
async function fits(what) {
    for (const width of [1100, 390]) {
        await page.setViewportSize({ width, height: 800 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${what}: ${wide} pixels wide in a window of ${width}`);
    }
    await page.setViewportSize({ width: 1100, height: 800 });
}

try {
    // Whoever is not logged in is asked for a token, and comes to where he wanted to go.
    await page.goto(`${url}/queue`);
    assert.equal(new URL(page.url()).pathname, '/login');
    await picture('login');
    await page.fill('input[name=token]', TOKEN);
    await page.click('button');
    await page.waitForURL(`${url}/queue`);
    await fits('an empty queue');
    await picture('queue-empty');
    await page.goto(`${url}/`);
    await says('None yet');
    await picture('runs-empty');

    // The list shows a run that was submitted after it was opened.
    await page.evaluate(() => { window.stayed = true; });
    const gate = `while [ ! -e ${process.env.GATE} ]; do sleep 0.05; done`;
    const run = await submit('a run to be watched', [
        job('build', `echo first line; ${gate}; echo last line`), job('test', 'echo tested', { needs: ['build'] }),
    ]);
    await says('a run to be watched');
    assert.ok(await page.evaluate(() => window.stayed), 'the list was not reloaded');
    await page.click('text=' + run.slice(0, 16));
    await page.waitForURL(`${url}/runs/${run}`);

    // It goes from running to its end while it is looked at.
    await page.evaluate(() => { window.stayed = true; });
    await mark('live');
    await says('RUNNING');
    await picture('run-live');
    const log = await context.newPage();
    log.on('pageerror', (error) => complaints.push(`uncaught: ${error}`));
    await log.goto(`${url}/runs/${run}`);
    await log.click('text=build');
    await log.waitForFunction(() => document.querySelector('pre.log')?.textContent.includes('first line'), null,
        { timeout: PATIENCE, polling: 50 });
    assert.ok(!(await log.textContent('pre.log')).includes('last line'));
    (await import('node:fs')).writeFileSync(process.env.GATE, '');
    await log.waitForFunction(() => document.querySelector('pre.log')?.textContent.includes('last line'), null,
        { timeout: PATIENCE, polling: 50 });
    await log.waitForFunction(() => document.getElementById('mark').textContent === 'ended', null,
        { timeout: PATIENCE, polling: 50 });
    if (pictures) await log.screenshot({ path: `${pictures}/log.png` });
    await log.close();
    await says('SUCCEEDED');
    await mark('ended');
    assert.ok(await page.evaluate(() => window.stayed), 'the run was not reloaded');
    assert.equal(await page.locator('h1 .good').textContent(), 'SUCCEEDED');
    await fits('a run');
    await picture('run-ended');
    await picture('run-ended-dark', { dark: true });
    await picture('run-ended-narrow', { width: 390 });

    // A run that is canceled while it is looked at.
    const canceled = await submit('a run to be canceled', [job('sleep', 'sleep 1000')]);
    await page.goto(`${url}/runs/${canceled}`);
    await says('RUNNING');
    await api('POST', `/runs/${canceled}/cancel`);
    await says('CANCELED');
    await mark('ended');
    await picture('run-canceled');

    // Names and output of whoever means ill stay text, and long ones stay on the page.
    const long = 'a-name-that-does-not-end-'.repeat(8);
    const evil = await submit(EVIL, [job(EVIL, `printf '%s\\n' '${EVIL.replaceAll("'", '')}'`, { tags: [] }),
        job(long, 'true', { tags: ['nobody-has-this-tag-at-all-but-it-is-very-long-and-has-no-spaces'] })]);
    await page.goto(`${url}/runs/${evil}`);
    await says('waits: no worker');
    await says('SUCCEEDED');
    assert.equal(await page.locator('#live img, #live script').count(), 0);
    await fits('long names');
    await picture('run-evil');
    await picture('run-evil-narrow', { width: 390, dark: true });
    await page.setViewportSize({ width: 1100, height: 800 });
    await page.locator('td a').first().click();
    await says('<script>alert(2)</script>');
    assert.equal(await page.locator('#live img, #live script').count(), 0);
    await picture('log-evil');

    for (const name of ['queue', 'workers', '']) {
        await page.goto(`${url}/${name}`);
        await says(name === '' ? 'Runs' : name === 'queue' ? 'Queue' : 'Workers');
        await fits(name || 'runs');
        await picture(`${name || 'runs'}-full`);
        await picture(`${name || 'runs'}-full-narrow-dark`, { width: 390, dark: true });
    }

    await page.click('text=Log out');
    await page.waitForURL(`${url}/login`);
    await page.goto(`${url}/`);
    assert.equal(new URL(page.url()).pathname, '/login');
    assert.deepEqual(complaints, []);
    console.log('seen');
} catch (error) {
    console.error(error, complaints, page.url(), await page.innerText('body').catch(() => ''));
    process.exitCode = 1;
} finally {
    await browser.close();
}
