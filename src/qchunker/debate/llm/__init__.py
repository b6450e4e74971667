"""The four roles played by a language model. Whatever it answers, no text is lost and nothing is made up."""
