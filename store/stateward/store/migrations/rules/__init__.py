"""The rules of immutability of every version before the present one, as that version wrote them."""
