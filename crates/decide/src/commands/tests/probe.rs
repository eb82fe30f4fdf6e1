#[test]
fn probe() {
    let Ok(text) = std::env::var("PROBE") else { return };
    for line in std::fs::read_to_string(text).unwrap().lines() {
        let got = super::shown(super::read(line, &super::FAMILY, |_| true).as_ref());
        println!("{line}\t{got}");
    }
}
