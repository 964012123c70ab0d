"""What a params file may say."""
