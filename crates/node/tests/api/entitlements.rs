//! Pools, and who may do what.

use crate::api::chain::key;
use crate::api::world::World;
use remuda_client::types::{EventBody, HexAddress, ReceiptView};
use remuda_protocol::codec::Bytes;
use remuda_protocol::entitlements::constraints::Constraints;
use remuda_protocol::entitlements::scope::{Action, Scope};
use remuda_protocol::primitives::{Address, B256, Height};
use remuda_protocol::transaction::Instruction;

const NAME: &[u8] = b"one two";

fn granted(receipt: &ReceiptView) -> B256 {
    let id = receipt.events.iter().find_map(|event| match event {
        EventBody::EntitlementGranted { entitlement, .. } => Some(entitlement.0),
        _ => None,
    });
    id.expect("it was granted")
}

fn join(grantee: Address, constraints: Constraints) -> Instruction {
    let id = Bytes(NAME.to_vec());
    let (action, scope) = (Action::join(&id), Scope::RunnerPool { id });
    Instruction::EntitlementGrant { grantee, scope, action, constraints }
}

#[tokio::test]
async fn a_pool_shows_its_members_a_page_at_a_time() {
    let world = World::new().await;
    let (ann, runners) = (key("ann"), world.register(3).await);
    let unknown = world.client.pool(NAME, 0).await.unwrap_err();
    assert_eq!(unknown.code(), Some("unknown_pool"));
    let scope = Scope::RunnerPool { id: Bytes(NAME.to_vec()) };
    world.ok(&ann, Instruction::EntitlementCreateScope { scope }).await;
    let mut ids = Vec::new();
    for runner in &runners {
        let receipt = world.ok(&ann, join(runner.address(), Constraints::default())).await;
        let entitlement = granted(&receipt);
        world.ok(runner, Instruction::EntitlementAccept { entitlement }).await;
        ids.push(entitlement);
    }
    let pool = world.client.pool(NAME, 0).await.unwrap();
    assert_eq!((pool.owner, pool.members, pool.next), (HexAddress(ann.address()), 3, None));
    assert_eq!((pool.name.to_string(), &pool.id.0[..]), ("one two".to_owned(), NAME));
    let members: Vec<Address> = pool.memberships.iter().map(|one| one.grantee.0).collect();
    assert_eq!(members, runners.iter().map(|key| key.address()).collect::<Vec<_>>());
    assert!(pool.memberships.iter().all(|one| one.live));

    // By name, with a page of one.
    let url = format!("{}/pool/one%20two?limit=1&after=1", world.server.url());
    let page: serde_json::Value = reqwest::get(&url).await.unwrap().json().await.unwrap();
    assert_eq!((&page["next"], page["memberships"].as_array().unwrap().len()), (&2.into(), 1));
    assert_eq!(page["memberships"][0]["action"], "RunnerJoinPool:one two");

    world.ok(&ann, Instruction::EntitlementRevoke { entitlement: ids[0] }).await;
    let gone = world.client.entitlement(ids[0]).await.unwrap_err();
    assert_eq!(gone.code(), Some("unknown_entitlement"));
    assert_eq!(world.client.pool(NAME, 0).await.unwrap().members, 2);
    assert!(world.client.entitlement(ids[1]).await.unwrap().live);
}

#[tokio::test]
async fn an_account_shows_its_rights_and_roles_and_which_of_them_hold() {
    let world = World::new().await;
    let (ann, bob) = (key("ann"), key("bob"));
    let scope = Scope::Namespace { name: Bytes(b"files".to_vec()) };
    world.ok(&ann, Instruction::EntitlementCreateScope { scope: scope.clone() }).await;
    let action = Action::Custom { name: Bytes(b"read".to_vec()) };
    let later = Constraints { valid_from: Some(Height(1_000_000)), ..Constraints::default() };
    for constraints in [Constraints::default(), later] {
        let (grantee, scope, action) = (bob.address(), scope.clone(), action.clone());
        let grant = Instruction::EntitlementGrant { grantee, scope, action, constraints };
        world.ok(&ann, grant).await;
    }
    let role = Instruction::EntitlementCreateRole {
        name: Bytes(b"clerk".to_vec()),
        scopes: vec![scope],
        actions: vec![action, Action::All],
        constraints: Constraints::default(),
    };
    let receipt = world.ok(&ann, role).await;
    let created = receipt.events.iter().find_map(|event| match event {
        EventBody::RoleCreated { role, .. } => Some(*role),
        _ => None,
    });
    let role = created.expect("it was created");
    let assignee = bob.address();
    world.ok(&ann, Instruction::EntitlementAssignRole { role: role.0, assignee }).await;

    let held = world.client.entitlements(bob.address()).await.unwrap();
    let live: Vec<bool> = held.entitlements.iter().map(|one| one.live).collect();
    assert_eq!(live, [true, false]);
    assert_eq!(held.entitlements[0].scope.to_string(), "namespace:files");
    assert_eq!(held.entitlements[0].action.to_string(), "read");
    assert_eq!((held.roles.len(), held.roles[0].id), (1, role));
    let nobody = world.client.entitlements(Address::repeat_byte(1)).await.unwrap();
    assert!(nobody.entitlements.is_empty() && nobody.roles.is_empty());
}
