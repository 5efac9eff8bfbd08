export { AcceleratorError } from './errors.js'
export {
  type Accelerator,
  loadAccelerator,
  type RecoverAddressParameters,
} from './loadAccelerator.js'
