QUnit.test('never runs', () => { const x = ; });
