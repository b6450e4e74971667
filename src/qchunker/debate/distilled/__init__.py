"""The three small models of QChunker play the debate: generator, discriminator and refiner.

Each stands alone. Whatever they answer, no text is lost and nothing is made up.
"""
