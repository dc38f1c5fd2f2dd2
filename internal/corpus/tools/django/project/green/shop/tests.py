import logging
import sys
import unittest
from django.test import TestCase
from .models import Item


class Green(TestCase):
    def test_works(self):
        self.assertEqual(Item.objects.count(), 0)

    @unittest.skip('later')
    def test_skipped(self):
        self.fail()

    def test_not_found(self):
        self.assertEqual(self.client.get('/nowhere/').status_code, 404)

    def test_crash(self):
        self.client.raise_request_exception = False
        self.assertEqual(self.client.get('/crash/').status_code, 500)

    def test_noise(self):
        print('FAIL: test_other (shop.tests.Other)')
        print('ERROR: connection refused', file=sys.stderr)
        logging.getLogger('shop').error('Traceback (most recent call last): not really')

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(1, 2)
