"""Rules of single claims, which need code of their own: on image networks, the ablation, language models."""
