"""Pages for notebooks: escaped text, and the picture that the core draws."""


def page(text: str, picture: str) -> str:
    """A text as HTML without a script, under a picture ("": none)."""
    import html
    return picture + "<pre>" + html.escape(text) + "</pre>"
