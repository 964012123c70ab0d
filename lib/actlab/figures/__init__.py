"""Figures: one function a figure, statistics in, ``matplotlib.figure.Figure`` out. They compute nothing and hold no
global state."""
