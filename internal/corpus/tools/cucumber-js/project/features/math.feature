Feature: math
  Scenario: adds
    Given the number 1
    When I add 2
    Then the result is 3

  Scenario: adds wrongly
    Given the number 1
    When I add 2
    Then the result is 4

  Scenario: throws
    Given the number 1
    When I divide by 0
    Then the result is 4

  Scenario: is undefined
    Given a step that nobody wrote

  Scenario: is pending
    Given a pending step

  Scenario: is skipped
    Given a skipped step

  Scenario: is ambiguous
    Given an ambiguous step

  Scenario Outline: adds <a> and <b>
    Given the number <a>
    When I add <b>
    Then the result is <c>
    Examples:
      | a | b | c |
      | 1 | 1 | 2 |
      | 2 | 2 | 5 |

  @timeout
  Scenario: ünï cödé 日本語 times out
    Given a step that never ends

  @hook
  Scenario: hook fails
    Given the number 1
