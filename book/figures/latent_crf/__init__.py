"""Figures of the chapter on the latent CRF and of its appendix."""
