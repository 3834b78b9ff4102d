# Identifiers and texts beyond ASCII.
größe = 3
ⅷ = 8
名前 = "なまえ"
print(größe, viii, 名前, "\N{SNOWMAN}", f"{größe=}", ascii(名前))
print(sorted(name for name in globals() if not name.startswith("__")))
print("🙂" * 3, len("🙂"), "ﬁ".upper())
raise KeyError(名前)
