"""Tests of agent.py: `remuda actor test examples/test_agent.py`."""


def asked():
    agent = chain.deploy("agent.py", value=100 * chain.CBY)
    agent.ask({"question": "Is water wet?"})
    return agent


def test_runners_that_agree_make_a_verified_answer():
    agent = asked()
    job = chain.jobs(agent)[0]
    assert job.kind == "Llm"
    assert job.spec["job_type"]["Llm"]["messages"][1]["content"] == "Is water wet?"
    assert chain.answer(job, "yes") == "settled"
    assert chain.state(agent, "answer:0") == {"question": "Is water wet?", "answer": "yes", "verified": True}


def test_one_that_disagrees_is_outvoted():
    agent = asked()
    assert chain.answer(chain.jobs(agent)[0], ["yes", "no", "yes"]) == "settled"
    assert chain.state(agent, "answer:0")["answer"] == "yes"


def test_if_nobody_agrees_it_takes_one_answer_and_says_so():
    agent = asked()
    assert chain.answer(chain.jobs(agent)[0], ["yes", "no", "perhaps"]) == "failed: no agreement"
    assert chain.events(agent, "not verified") == [("not verified", "the results do not agree")]
    chain.answer(chain.jobs(agent)[0], "perhaps")
    assert chain.state(agent, "answer:0")["verified"] is False


def test_if_nobody_answers_it_asks_again():
    agent = asked()
    assert chain.fail(chain.jobs(agent)[0]) == "failed: nobody delivered"
    chain.answer(chain.jobs(agent)[0], "yes")
    assert chain.events(agent, "answer") == [("answer", {"number": 0, "verified": False})]
