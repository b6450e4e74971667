"""From a question and hits to an answer whose every sentence names its source."""
