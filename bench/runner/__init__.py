"""The benchmark's runner; bench/README.md has its protocol with the peers."""
