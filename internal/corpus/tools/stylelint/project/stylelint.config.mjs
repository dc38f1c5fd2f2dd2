export default { rules: { 'block-no-empty': true, 'color-no-invalid-hex': true, 'property-no-unknown': true } }
