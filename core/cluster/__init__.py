"""The nouns of a HyperPod cluster, in AWS's and Kueue's own words."""
