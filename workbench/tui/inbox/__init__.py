"""What servers ask: what is shown of a request, how it is answered, and the rules that answer it."""
