from django.test import TestCase

class Never(TestCase)
    def test_one(self):
        pass
