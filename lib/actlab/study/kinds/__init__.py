"""The kinds of study: characters, images, ablation."""
