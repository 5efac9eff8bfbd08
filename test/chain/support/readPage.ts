import { readCases } from './readCases.js'

// What the test finds in the page.
Object.assign(globalThis, { readCases })
