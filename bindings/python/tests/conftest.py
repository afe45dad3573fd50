"""What the tests of several files want."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """A local Ray cluster of two worker processes."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()
