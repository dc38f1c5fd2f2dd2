import sys, logging, pytest
@pytest.mark.parametrize("i", range(12))
def test_many(i):
    assert i >= 0
def test_prints_summary(capfd):
    with capfd.disabled():
        print("\n1) test_foo FAILED")
        print("FAILED (failures=2)")
        print("E       assert 1 == 2")
def test_logs_error():
    logging.error("connection refused: ECONNREFUSED 127.0.0.1:5432")
@pytest.mark.xfail
def test_known(): assert 0
@pytest.mark.skip
def test_skip(): assert 0
