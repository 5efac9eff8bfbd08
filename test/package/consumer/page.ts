// The whole of what pages may take, as a page's only script.
import * as countersign from 'countersign'
import * as reads from 'countersign/reads'
import { checkout } from './browser.js'

Object.assign(globalThis, { page: { checkout, countersign, reads } })
