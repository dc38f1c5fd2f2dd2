import unittest
from django.test import SimpleTestCase, TestCase, TransactionTestCase
from .models import Item


class ItemTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.item = Item.objects.create(name='apple', price=3)

    def test_works(self):
        self.assertEqual(self.item.price, 3)

    def test_price(self):
        self.assertEqual(self.item.price, 4)

    def test_missing(self):
        Item.objects.get(name='pear')

    def test_queries(self):
        with self.assertNumQueries(1):
            list(Item.objects.all())
            Item.objects.count()

    def test_queryset(self):
        """
        The queryset holds the pear.
        """
        self.assertQuerysetEqual(Item.objects.values_list('name', flat=True), ['pear'], transform=str)

    def test_integrity(self):
        Item.objects.create(name='plum', price=None)

    @unittest.skip('no network')
    def test_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(1, 2)

    @unittest.expectedFailure
    def test_unexpected(self):
        self.assertEqual(1, 1)

    def test_subtests(self):
        for n in (1, 2, 3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 2)

    def test_größe(self):
        self.assertIn('€', 'größer')


class ViewTests(SimpleTestCase):
    def test_ok(self):
        self.assertContains(self.client.get('/ok/'), 'broken')

    def test_crash(self):
        self.client.get('/crash/')

    def test_status(self):
        self.assertEqual(self.client.get('/nowhere/').status_code, 200)

    def test_works(self):
        self.assertEqual(self.client.get('/ok/').status_code, 200)

    def test_redirect(self):
        self.assertRedirects(self.client.get('/ok/'), '/other/')


class Setup(TransactionTestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError('no server')

    def test_one(self):
        pass

    def test_two(self):
        pass
