from django.test import TestCase
from .no_such_module import thing


class Never(TestCase):
    def test_one(self):
        pass
