// Reads a JSON list of items, prints what they cost together.
const { readFileSync } = require("fs");

const items = JSON.parse(readFileSync(0, "utf8"));
const total = items.reduce((sum, { price, count = 1 }) => sum + price * count, 0);
console.log(total.toFixed(2));
