import './not-there.js';
