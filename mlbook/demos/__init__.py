"""Figures of the chapters: one module per chapter, functions that return a picture.

A function that an explorer calls returns the figure and a caption with its numbers.
"""
