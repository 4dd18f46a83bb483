"""The studio: a small web application to label edges and to let people judge them.

``edgecritic studio`` starts it. Services are plain functions on a database session; views are thin.
"""
