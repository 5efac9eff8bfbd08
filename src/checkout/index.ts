export {
  checkoutAddress,
  checkoutDeployment,
  type DeploymentCall,
  type PermitCheckoutParameters,
  permitCheckoutAddress,
  permitCheckoutDeployment,
} from './checkoutContracts.js'
