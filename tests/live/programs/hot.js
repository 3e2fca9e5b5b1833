/* Two functions that are compiled soon; the first one gets most of the time: of the processor's, however busy it is. */
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function warm(n) { let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 65521; return s; }
const end = 1000 * Number(process.argv[2] || 1000);
let x = 0;
while (process.cpuUsage().user < end) { x += hot(20000); x += warm(2000); }
console.log(x);
