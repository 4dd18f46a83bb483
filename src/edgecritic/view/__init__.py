"""The viewer: look into runs, image by image, in a browser (extra ``view``)."""
