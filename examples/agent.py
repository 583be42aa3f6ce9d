"""An agent that asks a language model: a verified answer if there is one, a cautious one otherwise.

Three runners answer; two of them have to say the same. Models of different runners may differ, and
then nobody wins: the agent asks a single one and marks the answer as unverified.
"""

import cowboy
from cowboy import runner, storage, verify

CBY = 1_000_000_000


async def ask(message):
    question = message["question"]
    try:
        answer = await runner.llm(
            question,
            system="Answer with one word.",
            verify=verify.majority("content", runners=3, threshold=2),
            max_price=6 * CBY,
        )
        verified = True
    except cowboy.HostError as error:
        cowboy.emit("not verified", str(error))
        answer = await runner.llm(question, system="Answer with one word.", max_price=2 * CBY)
        verified = False
    number = storage.get("answers", 0)
    storage["answers"] = number + 1
    storage["answer:" + str(number)] = {"question": question, "answer": answer, "verified": verified}
    cowboy.emit("answer", {"number": number, "verified": verified})
    return answer
