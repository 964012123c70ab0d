"""What starts from records: how far a study is, a trial trained again, its model, what that writes."""
