"""What gdb shows of libvow, in parts; vow.py puts them together."""
