export default [{
  files: ['**/*.js'],
  languageOptions: { ecmaVersion: 2022, sourceType: 'module', globals: { console: 'readonly' } },
  rules: { 'no-unused-vars': 'error', eqeqeq: 'error', 'no-undef': 'error', 'no-console': 'warn' },
}]
