"""Studies of language models on characters: a trial and its training, the arms and what is measured on them, twins."""
