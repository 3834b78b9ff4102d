// A program that starts itself twice.
// limits: processes=100 memory_mb=1024 wall_ms=20000
// ends: processes
const { spawn } = require("child_process");
for (let i = 0; i < 2; i++) spawn(process.execPath, process.argv.slice(1)).on("error", () => {});
setInterval(() => {}, 1000);
