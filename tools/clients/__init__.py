"""Ports and their adapters: AWS, Kubernetes, later Slurm, Ray and Prometheus."""
