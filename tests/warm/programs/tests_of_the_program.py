# unittest and doctest find the program itself.
import unittest


class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)

    def test_wrong(self):
        self.assertEqual({"a": [1, 2]}, {"a": [1, 3]})

    @unittest.skip("not today")
    def test_skipped(self):
        pass


def double(x):
    """
    >>> double(2)
    4
    >>> double(3)
    7
    """
    return 2 * x


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Sums)
    result = unittest.TextTestRunner(stream=open("/dev/null", "w")).run(suite)
    print(result, [trace for _, trace in result.failures])
