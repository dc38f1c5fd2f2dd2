Feature: math
  Scenario: adds
    Given the number 1
    When I add 2
    Then the result is 3
