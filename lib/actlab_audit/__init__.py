"""The claims of the reference studies and what our records say of them: every verdict is computed, none is typed in."""
