"""
Two rings that k-means cannot tell apart
========================================
"""

# %%
import matplotlib.pyplot as plt

plt.plot([1, 2])
