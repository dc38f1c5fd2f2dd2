"""A module."""
import os
import sys
from no_such_module import thing


def total(items=[]):
    unused = 1
    if len(items) == 0:
        return None
    print(undefined_name)
    return sum(items)


class cart:
    def pay(self):
        self.card.charge()
        eval("1")

    def größe(self):
        return "a very long line of text that goes on and on and on and on and on and on and on and on and on"


total(1, 2, 3)
"%d %d" % (1,)
[].no_such_method()
