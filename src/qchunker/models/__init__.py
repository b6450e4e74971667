"""Models behind three protocols, batch in and batch out, loaded by name.

    Embedder.encode     texts -> unit vectors          embedder.py
    CausalLM.token_logprobs   texts -> log-probabilities of their tokens   causal_lm.py
    LLM.complete           prompts -> replies               llm.py

``load.py`` has the tables of names; importing this package loads no model and no optional library.
"""
