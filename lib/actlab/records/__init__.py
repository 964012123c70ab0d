"""From records to numbers, without torch: comparisons of arms, families of questions, which trials repeat others, what was written when."""
