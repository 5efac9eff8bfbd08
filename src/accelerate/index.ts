export { AcceleratorError } from './errors.js'
export { type Accelerator, loadAccelerator } from './loadAccelerator.js'
