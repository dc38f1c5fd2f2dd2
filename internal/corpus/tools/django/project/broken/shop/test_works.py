from django.test import SimpleTestCase


class Works(SimpleTestCase):
    def test_one(self):
        pass
