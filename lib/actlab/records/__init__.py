"""From records to numbers, without torch: settings, tidy tables, comparisons of arms, families of questions, repeated
trials."""
